/* Prints its arguments file; made into library/k_binary. */
#include <stdio.h>
int main(int n, char **v) {
    FILE *f = fopen(v[1], "r");
    int c;
    printf("{\"n\": %d, \"args\": ", n);
    while ((c = getc(f)) != EOF) putchar(c);
    printf("}\n");
    return 0;
}
